/**
 * The system's pip, restricted so that it can start no program: no package builds, no git, no queries about the machine.
 * `--only-binary` alone would not prevent builds of a wheel's dependencies. -I: no modules from the directory or the environment.
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
