# Nix: `nix-build -E 'with import <nixpkgs> {}; callPackage ./. {}'`. `make recipes` fills in the version and the checksum.
{ lib, stdenv, fetchurl, cmake }:

stdenv.mkDerivation rec {
  pname = "arenaut";
  version = "@VERSION@";

  src = fetchurl {
    url = "https://github.com/arenaut/arenaut/releases/download/v${version}/arenaut-${version}.tar.gz";
    sha256 = "@SHA256@";
  };

  nativeBuildInputs = [ cmake ];

  doInstallCheck = true;
  installCheckPhase = ''
    $out/bin/arenaut plan ../tests/data/mobilenet_v1_025_96_int8.tflite -o planned.tflite
    $out/bin/arenaut check planned.tflite
  '';

  meta = {
    description = "Memory planner for tensor programs: proven smallest arenas, checked, written back";
    homepage = "https://github.com/arenaut/arenaut";
    license = with lib.licenses; [ asl20 llvm-exception bsd2 cc0 mit ]; # explorer/dist/planner.licenses.txt
    mainProgram = "arenaut";
    platforms = lib.platforms.unix;
  };
}
