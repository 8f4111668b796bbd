/** What does not work in staged commands: a pattern in their output, and a note with the alternative. */
const limits: readonly (readonly [printed: RegExp, note: string])[] = [
  [
    /\bEXDEV\b|cross-device link/i,
    "[a program cannot rename a directory that was there before: use `mv OLD NEW`, then `git add -A OLD NEW`]",
  ],
  [
    // The first link to a workspace file copies it to the stage, and the copy has another inode number.
    /\bhardlink different from source\b/,
    "[git cannot link what a clone shares with a repository that was there before: use `git clone --no-hardlinks`]",
  ],
  [
    /\bENETUNREACH\b|network is unreachable/i,
    "[a connection to a bare address is seen only of programs that know HTTP_PROXY: use a host's name, or such a program]",
  ],
];

/** Notes for the model about a failed command that met such a limit. */
export function stagedLimitNotes({
  exitCode,
  output,
}: {
  readonly exitCode?: number | undefined;
  readonly output: string;
}) {
  return exitCode === 0 ? [] : limits.flatMap(([printed, note]) => (printed.test(output) ? [note] : []));
}
