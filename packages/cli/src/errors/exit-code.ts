/** What the process says to its caller. */
export const exitCode = {
  ok: 0,
  /** The job failed: the model, the server or a tool. */
  failed: 1,
  /** The command line or its input is wrong; nothing was done. */
  usage: 2,
  /** Something the job needed was refused: by a policy, by the user, or because nobody could be asked. */
  refused: 3,
  /** Of `run --ci`: a rule asked, and nothing there may answer. */
  unanswered: 4,
  /** Of `run --ci`: the turn used up what it may, or went round in circles. */
  limit: 5,
  /** Of `run --ci`: the model could not be asked, or gave no answer. */
  model: 6,
  /** Ended by Ctrl-C or a signal. */
  interrupted: 130,
  /** The same by SIGTERM, where who tried a command tells them apart. */
  terminated: 143,
} as const;

export type ExitCode = (typeof exitCode)[keyof typeof exitCode];

/** The same for people: `gennai --help` ends with it. */
export const exitCodesHelp = `
Exit codes:
  0    done
  1    the job failed
  2    the command line or its input is wrong; nothing was done
  3    something was refused: by a rule, by you, or because nobody could be asked
  130  interrupted
`;
