import { execFile } from "node:child_process";
import { commandEnvironment } from "@gennai/machine/process/command-environment";

export interface BareRun {
  /** Undefined when it did not end in time. */
  readonly exitCode: number | undefined;
  readonly output: string;
}

/**
 * Runs a command without the product: Bash, in a copy of the workspace at the workspace's own path, without network. It really
 * writes there, and nowhere else on the machine: it has its own home and `/tmp`. Its processes end with it.
 */
export function bareRun(
  command: string,
  {
    root,
    copy,
    temporary,
    home,
    timeoutMs,
    environment = {},
  }: {
    readonly root: string;
    readonly copy: string;
    /** What is `/tmp` to it. */
    readonly temporary: string;
    readonly home: string;
    readonly timeoutMs: number;
    readonly environment?: Readonly<Record<string, string>>;
  },
): Promise<BareRun> {
  const argv = [
    ...["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--unshare-net", "--unshare-pid"],
    ...["--die-with-parent", "--new-session"],
    ...["--bind", temporary, "/tmp", "--tmpfs", home, "--bind", copy, root, "--chdir", root],
    // In one pipe, as a staged run prints.
    ...["--", "/bin/bash", "-c", 'exec /bin/bash -c "$1" </dev/null 2>&1', "bash", command],
  ];
  const env = { ...commandEnvironment(process.env), HOME: home, TMPDIR: "/tmp", ...environment };
  return new Promise((resolve) => {
    const options = { env, timeout: timeoutMs, killSignal: "SIGKILL", maxBuffer: 64 * 1024 * 1024 } as const;
    execFile("bwrap", argv, options, (error, output) => {
      const code = error === null ? 0 : typeof error.code === "number" ? error.code : undefined;
      resolve({ exitCode: code, output });
    });
  });
}
