/**
 * The system's pip, which can start no program there: neither what builds a package, nor git, nor anything that it asks about the
 * machine. A wheel may name packages to be built that `--only-binary` lets through. -I: no module of the directory, nor of the environment.
 */
export const pipAlone: readonly string[] = [
  "python3",
  "-I",
  "-c",
  `import runpy, sys
refused = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.startfile", "os.fork", "os.forkpty", "pty.spawn")
def refuse(event, args):
    if event in refused:
        raise PermissionError("With a login, pip starts no program: nothing is built.")
sys.addaudithook(refuse)
runpy.run_module("pip", run_name="__main__")`,
];
