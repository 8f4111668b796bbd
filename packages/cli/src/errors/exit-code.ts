/** What the process says to its caller; `gennai --help` lists them. */
export const exitCode = {
  ok: 0,
  /** The job failed: the model, the server or a tool. */
  failed: 1,
  /** The command line or its input is wrong; nothing was done. */
  usage: 2,
  /** Something the job needed was refused: by a policy, by the user, or because nobody could be asked. */
  refused: 3,
  /** Ended by Ctrl-C or a signal. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCode)[keyof typeof exitCode];
