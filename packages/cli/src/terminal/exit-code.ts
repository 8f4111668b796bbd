/** Exit codes of the process. */
export const exitCode = {
  ok: 0,
  /** The job failed: the model, the server or a tool. */
  failed: 1,
  /** The command line or its input is wrong; nothing was done. */
  usage: 2,
  /** Something the job needed was refused: by a policy, by the user, or because nobody could be asked. */
  refused: 3,
  /** `run --ci`: a rule asked a question that nobody may answer. */
  unanswered: 4,
  /** `run --ci`: the turn reached a limit, or repeated itself. */
  limit: 5,
  /** `run --ci`: the model could not be reached, or gave no answer. */
  model: 6,
  /** Ended by Ctrl-C or a signal. */
  interrupted: 130,
  /** Ended by SIGTERM, if the caller distinguishes signals. */
  terminated: 143,
} as const;

export type ExitCode = (typeof exitCode)[keyof typeof exitCode];

/** Exit codes as text for people, at the end of `gennai --help`. */
export const exitCodesHelp = `
Exit codes:
  0    done
  1    the job failed
  2    the command line or its input is wrong; nothing was done
  3    something was refused: by a rule, by you, or because nobody could be asked
  130  interrupted
`;
