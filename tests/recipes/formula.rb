# Plays as much of Homebrew as the formula calls: ruby formula.rb FORMULA ARCHIVE PREFIX unpacks the archive, installs
# by the formula, and runs its test.
require "digest"
require "fileutils"
require "pathname"
require "tmpdir"

class Formula
  class << self
    attr_reader :facts, :trial
    %i[desc homepage url sha256 license].each do |fact|
      define_method(fact) { |value| (@facts ||= {})[fact] = value }
    end

    def depends_on(_what); end

    def test(&block)
      @trial = block
    end
  end

  attr_reader :testpath

  def initialize(prefix)
    @prefix = Pathname(prefix)
    @testpath = Pathname(Dir.mktmpdir)
  end

  def bin = @prefix/"bin"
  def pkgshare = Folder.new(@prefix/"share/arenaut")
  def bash_completion = Folder.new(@prefix/"etc/bash_completion.d")
  def zsh_completion = Folder.new(@prefix/"share/zsh/site-functions")
  def std_cmake_args = ["-DCMAKE_INSTALL_PREFIX=#{@prefix}", "-DCMAKE_INSTALL_LIBDIR=lib", "-DCMAKE_BUILD_TYPE=Release"]

  def system(*words)
    Kernel.system(*words.map(&:to_s), out: File::NULL) || raise("failed: #{words.join(" ")}")
  end
end

class Folder < Pathname
  def install(file)
    from, to = file.is_a?(Hash) ? file.first : [file, File.basename(file)]
    FileUtils.mkdir_p(self)
    FileUtils.cp(from, self/to)
  end
end

formula, archive, prefix = ARGV.map { |path| File.expand_path(path) }
load formula
facts = Arenaut.facts
raise "checksum" unless Digest::SHA256.file(archive).hexdigest == facts[:sha256]
raise "another file: #{facts[:url]}" unless File.basename(facts[:url]) == File.basename(archive)

Dir.mktmpdir do |work|
  Dir.chdir(work) do
    Kernel.system("tar", "--strip-components=1", "-xzf", archive) || raise("tar")
    Arenaut.new(prefix).install
  end
end
Arenaut.new(prefix).instance_eval(&Arenaut.trial)
