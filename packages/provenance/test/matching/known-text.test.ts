import { describe, expect, test } from "vitest";
import { KnownText, type TextWrite } from "#matching/known-text";
import type { Match } from "#matching/passage";

const before = [
  ...["import { open } from 'node:fs';", "", "/** Reads all of it. */", "export function readEverything(file) {"],
  ...["  return open(file, 'r');", "}"],
];
const added = [
  ...["", "/** Counts the words of a sentence. */", "export function countWords(sentence, separator = ' ') {"],
  ...["  const words = sentence.split(separator).filter((word) => word !== '');", "  return words.length;", "}"],
];
const after = [...before, ...added];
const text = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join("");
const write = (step: Partial<TextWrite> = {}): TextWrite => ({
  write: 7,
  path: "src/words.js",
  operation: "update",
  before: text(before),
  after: text(after),
  isUndo: false,
  ...step,
});

function known(...steps: readonly TextWrite[]): KnownText {
  const found = new KnownText();
  for (const step of steps.length === 0 ? [write()] : steps) found.add(step);
  return found;
}

/** For each line: the number of the write, `-` for what is known to be outside of any, `?` for several, `.` for nothing. */
function shown(matches: readonly Match[]): string {
  return matches
    .map((match) => {
      if (match.type === "write") return String(match.write);
      if (match.type === "outside") return "-";
      return match.reason === "ambiguous" ? "?" : ".";
    })
    .join("");
}

const near = new Set(["src/words.js"]);
const far = new Set(["lib/other.js"]);
const foreign = ["function strangersOwnThing(value) {", "  return value.somethingElse;", "}", ""];

describe("a line is known again after", () => {
  const cases: readonly (readonly [
    what: string,
    lines: readonly string[],
    paths: ReadonlySet<string>,
    wanted: string,
  ])[] = [
    ["nothing", after, near, "------777777"],
    ["a new name of the file", after, far, "------777777"],
    ["lines put in at the beginning", [...foreign, ...after], near, "....------777777"],
    ["a line of it was changed", after.with(9, "  const words = sentence.split('');"), near, "------777.77"],
    ["it was moved up", [...added, ...before], near, "777777------"],
    ["it was moved to another file", [...foreign, ...added, ...foreign], far, "....777777...."],
    ["it was indented", after.map((line) => (line === "" ? line : `\t\t${line}`)), near, "------777777"],
    [
      "a formatter set other quotes",
      after.map((line) => line.replaceAll("'", '"').replace(/;$/, "")),
      near,
      "------777777",
    ],
    [
      "a formatter broke a line",
      [
        ...after.slice(0, 9),
        "  const words = sentence",
        "    .split(separator)",
        "    .filter((word) => word !== '');",
        ...after.slice(10),
      ],
      near,
      "------77777777",
    ],
    ["it was copied", [...after, ...added], near, "------77777?777777"],
  ];
  test.each(cases)("%s", (_what, lines, paths, wanted) => {
    expect(shown(known().match(text(lines), paths))).toBe(wanted);
  });

  test("its line ends became those of Windows, with a byte order mark", () => {
    expect(shown(known().match(`\ufeff${after.join("\r\n")}\r\n`, near))).toBe("------777777");
  });
});

test("a hidden character makes a line another one", () => {
  const lines = after.with(9, "  const words = sentence.split(separator\u200b).filter((word) => word !== '');");
  expect(shown(known().match(text(lines), near))).toBe("------777.77");
});

test("a few common lines in a file that no call wrote are nobody's", () => {
  const lines = ["function mine() {", "  return words.length;", "}"];
  expect(shown(known().match(text(lines), far))).toBe("...");
});

test("whose closing bracket is the old one cannot be said, and is not guessed", () => {
  const between = ["", "export function between(one) {", "  return one;", "}"];
  const lines = [...before, ...between, ...added];
  expect(shown(known().match(text(lines), near))).toMatch(/^-----[-?]...[.?][.?]?7?77777$/);
});

test("a block that two calls wrote alike is of either, and in the file of one it is of that one", () => {
  const steps = [
    write(),
    write({ write: 8, path: "src/again.js", operation: "create", before: undefined, after: text(added) }),
  ];
  expect(shown(known(...steps).match(text([...foreign, ...added]), far))).toBe("....??????");
  expect(shown(known(...steps).match(text([...foreign, ...added]), near))).toBe("....777777");
  expect(shown(known(...steps).match(text([...foreign, ...added]), new Set(["src/again.js"])))).toBe("....888888");
});

test("what a person changed between two calls is not the second call's", () => {
  const byPerson = after.with(10, "  return words.length - 1;");
  const more = [...byPerson, "export const limitOfWords = 1000;"];
  const steps = [write(), write({ write: 8, before: text(byPerson), after: text(more) })];
  expect(shown(known(...steps).match(text(more), near))).toBe("------7777--8");
});

test("what is taken back is of those who wrote it before", () => {
  const steps = [
    write(),
    write({ write: 8, before: text(after), after: text(before) }),
    write({ write: 9, before: text(before), after: text(after), isUndo: true }),
  ];
  expect(shown(known(...steps).match(text(after), near))).toBe("------777777");
});

describe("what a person had written before any call, and is put back by an undo, is not the undo's", () => {
  const changed = before.with(4, "  return open(file, 'w', { mode: 0o600 });");
  const undo = (step: Partial<TextWrite>) => write({ write: 9, before: text(changed), isUndo: true, ...step });
  const mine = before.toSpliced(
    1,
    0,
    "import { mine } from '../../../store/test/provenance/matching/my-own-module.js';",
  );
  const cases: readonly (readonly [
    what: string,
    lines: readonly string[],
    steps: readonly TextWrite[],
    wanted: string,
  ])[] = [
    ["a change", before, [write({ after: text(changed) }), undo({ after: text(before) })], "------"],
    [
      "a deletion",
      before,
      [
        write({ operation: "delete", after: undefined }),
        undo({ operation: "create", before: undefined, after: text(before) }),
      ],
      "------",
    ],
    [
      "a change beside a later one of the person's",
      mine,
      [
        write({ after: text(changed) }),
        undo({ before: text(changed.toSpliced(1, 0, mine[1] ?? "")), after: text(mine) }),
      ],
      "-------",
    ],
    [
      "a text of which only the closing bracket is recorded",
      foreign,
      [write({ after: text(changed) }), undo({ after: text(foreign) })],
      "??-?",
    ],
  ];
  test.each(cases)("%s", (_what, lines, steps, wanted) => {
    expect(shown(known(...steps).match(text(lines), near))).toBe(wanted);
  });
});

test.each([
  ["as it was", (lines: readonly string[]) => lines, "------777777"],
  [
    "and changed",
    (lines: readonly string[]) => ["// Moved here.", ...lines.with(2, "  return open(file, 'w');")],
    "8--8---777777",
  ],
])("a file that a call moved %s stays of those who wrote it", (_how, change, wanted) => {
  const moved = change(after);
  const steps = [
    write(),
    write({ write: 8, record: 5, operation: "delete", before: text(after), after: undefined }),
    write({ write: 8, record: 5, path: "lib/words.js", operation: "create", before: undefined, after: text(moved) }),
  ];
  expect(shown(known(...steps).match(text(moved), new Set(["lib/words.js"])))).toBe(wanted);
  // By two records, nothing says that it is the same file.
  const apart = [...steps.slice(0, 2), write({ ...steps[2], write: 9, record: 6 })];
  expect(shown(known(...apart).match(text(moved), new Set(["lib/words.js"])))).toBe("9".repeat(moved.length));
});

test("a short text that a person broke and changed is not said to be the call's", () => {
  const sent = [
    "  sock.send(b'HTTP/1.1 200 OK' +",
    "            b'-- Bad Actor -- Original Content')",
    "  return content;",
  ];
  const reflowed = ["  answer = (", "      b'-- Bad Actor -- Original Content'", "  )", "  sock.send(answer)"];
  const step = write({ before: undefined, operation: "create", after: text(sent) });
  expect(shown(known(step).match(text(reflowed), near))).toBe("....");
});

test("a line that another call brought as it is, is of either, though the text around it is older", () => {
  const call = (...lines: readonly string[]) => ["try:", "    checkCompatibility(", ...lines, "    )"];
  const old = call("        firstLibrary.version, secondLibraryVersion, characterNormalizerVersion");
  const broken = call(
    "        firstLibrary.version,  # not typed",
    "        secondLibraryVersion,  # not typed",
    "        characterNormalizerVersion,",
  );
  const steps = [
    write({ write: 1, before: undefined, operation: "create", after: text(old) }),
    write({ write: 2, before: text(old), after: text(broken) }),
  ];
  // A person took the remarks away, in a copy.
  const now = broken.map((line) => line.replace("  # not typed", ""));
  expect(shown(known(...steps).match(text([...now, ...foreign]), far))).toBe("1111?1....");
});

test("what a person changed in a review is neither the agent's nor said to be the person's", () => {
  const edited = ["  const words = sentence.split(separator).filter((word) => word !== '');", "  return words.length;"];
  expect(shown(known(write({ edited: [text(edited)] })).match(text(after), near))).toBe("------777??7");
  expect(shown(known(write({ edited: "unknown" })).match(text(after), near))).toBe("------??????");
  expect(shown(known(write({ edited: ["[REDACTED:token]\n"] })).match(text(after), near))).toBe("------??????");
});

test("contents that are gone are nobody's", () => {
  expect(shown(known(write({ before: undefined, after: undefined })).match(text(after), near))).toBe("............");
});

describe("where a long line was broken", () => {
  const names = ["const oldNames = [", "  'KeepOpenFile',", "  'safeCallOfAnything',", "];"];
  const pairs = [
    "const pairs = [",
    "  (utils, 'KeepOpenFile', utils._KeepOpenFile),",
    "  (utils, 'other', utils._other),",
    "];",
  ];
  const steps = [
    write({ write: 7, operation: "create", before: undefined, after: text(names) }),
    write({ write: 8, before: text(names), after: text(pairs) }),
  ];

  test("a piece that looks like an older line is of who wrote the long one", () => {
    const broken = [
      "const pairs = [",
      "  (utils,",
      "  'KeepOpenFile',",
      "  utils._KeepOpenFile),",
      pairs[2] ?? "",
      "];",
    ];
    expect(shown(known(...steps).match(text(broken), near))).toBe("888887");
  });

  test("and somebody added to it, it is nobody's", () => {
    const broken = [
      ...before,
      "",
      added[1] ?? "",
      "export function countWords(",
      "  sentence,",
      "  separator = ' ', more) {",
    ];
    expect(shown(known().match(text(broken), near))).toBe("------77...");
  });

  test("what stood there, was changed and came back a piece at a time is of either", () => {
    const whole = "check(urllibVersionOfToday, chardetVersionOfToday, normalizerVersionOfToday)";
    const lines = (end: string): readonly string[] => [
      "try {",
      "check(",
      "  urllibVersionOfToday,",
      `  chardetVersionOfToday,${end}`,
      "  normalizerVersionOfToday)",
      "}",
    ];
    const back = [
      write({ write: 7, operation: "create", before: undefined, after: text(["try {", whole, "}"]) }),
      write({ write: 8, before: text(lines(" // one").with(4, "  n)")), after: text(lines("").with(4, "  n)")) }),
    ];
    expect(shown(known(...back).match(text(lines("")), near))[3]).toBe("?");
  });

  test("its first piece is not the short line that it began as, when nothing is known of the rest", () => {
    const short = write({
      write: 7,
      operation: "create",
      before: undefined,
      after: text(["from http.server import Server", "x = 1"]),
    });
    const broken = ["from http.server import Server,", "    SomethingElse", "x = 1"];
    expect(shown(known(short).match(text(broken), near)).slice(0, 2)).toBe("..");
  });
});

test("an empty text has no lines, and one without a last line end has its last line", () => {
  expect(known().match("", near)).toEqual([]);
  expect(shown(known().match(after.join("\n"), near))).toBe("------777777");
});

// A text that repeats itself would have as many runs as pairs of its lines: thousands of times as much to look at.
test("four thousand equal lines take at most ten times the processor time of as many different ones", () => {
  const same = Array.from({ length: 4_000 }, () => "  { name: 'same', value: 1 },");
  const different = Array.from({ length: 4_000 }, (_, index) => `  { name: 'n${index}', value: 1 },`);
  const spent = (lines: readonly string[]) => {
    const found = known(write({ after: text(lines) }));
    const before = process.cpuUsage();
    expect(found.match(text([...lines, "another line that stands alone"]), near)).toHaveLength(lines.length + 1);
    const { user, system } = process.cpuUsage(before);
    return user + system;
  };
  const ofDifferent = spent(different);
  expect(spent(same)).toBeLessThan(10 * ofDifferent);
});
