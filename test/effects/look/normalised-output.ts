/** What differs between two runs of the same command, by what it becomes. */
const volatile: readonly (readonly [RegExp, string])[] = [
  // Colours, and other sequences for a terminal.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what they begin with.
  [/\u001b\[[0-9;?]*[a-zA-Z]/g, ""],
  // A model reads on a line of its own what a terminal would write over the line.
  [/\r/g, "\n"],
  [/\n{2,}/g, "\n"],
  [/\/(?:usr\/)?bin\/bash: line/g, "bash: line"],
  [/^\[\d+\] \d+$/gm, "[job]"],
  [/\(pid \d+\)|\bpid \d+/gi, "pid"],
  [/\d{4}-\d\d-\d\d[T ]\d\d[:_]\d\d[:_]\d\d(?:[.,_]\d+)?(?:Z| ?[+-]\d\d:?\d\d)?/g, "<time>"],
  [
    /(?:\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? )?\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) +\d+,?(?: \d\d:\d\d(?::\d\d)?)?(?: UTC)?(?: \d{4})?(?: [+-]\d{4})?/g,
    "<time>",
  ],
  [/\b\d\d:\d\d(?::\d\d(?:\.\d+)?)?\b/g, "<time>"],
  [/\b\d+m\d+\.\d+s\b|\b\d+(?:\.\d+)? ?(?:ms|s|seconds|min)\b/g, "<span>"],
  [/(duration_ms) [\d.]+/g, "$1"],
  [/\b[0-9a-f]{7,64}\b/g, "<id>"],
  // An overlay counts no directories in a directory.
  [/^(d[rwx-]{9}) +\d+/gm, "$1 <links>"],
  // It is a file system of its own.
  [/^Device: \S+/gm, "Device"],
  [/[ \t]+$/gm, ""],
  [/ {2,}/g, " "],
];

/** Output of a command without times, ids of processes and of commits, and colours. */
export function normalisedOutput(text: string): string {
  return volatile.reduce((rest, [what, by]) => rest.replaceAll(what, by), text).trimEnd();
}
