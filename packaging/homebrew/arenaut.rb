# Homebrew's formula. `make recipes` fills in the version and the checksum of the archive.
class Arenaut < Formula
  desc "Memory planner for tensor programs: proven smallest arenas, written back"
  homepage "https://github.com/arenaut/arenaut"
  url "https://github.com/arenaut/arenaut/releases/download/v@VERSION@/arenaut-@VERSION@.tar.gz"
  sha256 "@SHA256@"
  # The page's planner is linked with wasi-libc and compiler-rt: explorer/dist/planner.licenses.txt.
  license all_of: ["Apache-2.0", { "Apache-2.0" => { with: "LLVM-exception" } }, "BSD-2-Clause", "CC0-1.0", "MIT"]

  depends_on "cmake" => :build

  def install
    system "cmake", "-S", ".", "-B", "build", *std_cmake_args
    system "cmake", "--build", "build"
    system "cmake", "--install", "build"
    bash_completion.install "build/arenaut.bash" => "arenaut"
    zsh_completion.install "build/arenaut.zsh" => "_arenaut"
    pkgshare.install "tests/data/mobilenet_v1_025_96_int8.tflite"
  end

  test do
    model = pkgshare/"mobilenet_v1_025_96_int8.tflite"
    system bin/"arenaut", "plan", model, "-o", testpath/"planned.tflite"
    system bin/"arenaut", "check", testpath/"planned.tflite"
  end
end
