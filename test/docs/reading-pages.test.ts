import { expect, test } from "vitest";
import { parseMarkdown } from "./markdown-page.ts";
import { runPage } from "./run/run-page.ts";
import { ShownOutput } from "./run/shown-output.ts";
import { parseTranscript } from "./run/transcript.ts";

const id = "e1cd8a3d-2004-4e29-b94d-f2223224cb62";
const otherId = "0a1b2c3d-2004-4e29-b94d-f2223224cb62";

test.each([
  ["the same", "one\ntwo\n", "one\ntwo\n", true],
  ["another word", "one\n", "two\n", false],
  ["a line too many", "one\n", "one\ntwo\n", false],
  ["a line too few", "one\ntwo\n", "one\n", false],
  ["nothing shown, something printed", "", "one\n", false],
  ["blanks at the end of a line", "one\n", "one  \n\n", true],
  ["lines left out", "one\n…\nfour\n", "one\ntwo\nthree\nfour\n", true],
  ["no line left out", "one\n…\ntwo\n", "one\ntwo\n", true],
  ["part of a line left out", "took … ms\n", "took 17 ms\n", true],
  ["no more than that line", "took … ms\n", "took 17\n18 ms\n", false],
  ["another id", `session ${id}\n`, `session ${otherId}\n`, true],
  ["no id", `session ${id}\n`, "session none\n", false],
  ["one id, shown twice", `${id} ${id}\n`, `${otherId} ${otherId}\n`, true],
  ["two ids, shown as one", `${id} ${id}\n`, `${otherId} ${id}\n`, false],
  ["one time, shown twice", "10:00:00 10:00:00\n", "10:00:00 10:00:01\n", true],
  ["a time", "at 2026-11-22T00:05:22.340Z\n", "at 2027-01-01T10:00:00.001Z\n", true],
  ["a time is not a number", "at 10:00:00\n", "at 100000\n", false],
  ["signs of patterns", "a.b (c) [d]\n", "aXb (c) [d]\n", false],
])("what is shown and what came: %s", (_name, shown, came, matches) => {
  expect(new ShownOutput().matches(shown, came)).toBe(matches);
});

test("a value that was shown is the same in later commands and outputs", () => {
  const shown = new ShownOutput();
  expect(shown.matches(`plan ${id}\n`, `plan ${otherId}\n`)).toBe(true);
  expect(shown.inWords(`approve ${id}`)).toBe(`approve ${otherId}`);
  expect(shown.matches(`${id} done\n`, `${id} done\n`)).toBe(false);
  expect(shown.matches(`${id} done\n`, `${otherId} done\n`)).toBe(true);
});

test("commands go on over lines, and output belongs to the command before it", () => {
  const text = "$ cat <<E \\\n  | sort\nb\na\nE\na\nb\n$ f() { echo 1\n}\n$ f\n1\n";
  expect(parseTranscript(text)).toEqual([
    { command: "cat <<E \\\n  | sort\nb\na\nE", output: "a\nb\n" },
    { command: "f() { echo 1\n}", output: "" },
    { command: "f", output: "1\n" },
  ]);
});

test.each([
  [
    "a difference",
    "```console\n$ echo one\ntwo\n```\n",
    /line 1: \$ echo one\n--- the page shows\ntwo\n--- it prints\none/,
  ],
  ["a failed command", "```sh\ntrue\nfalse\necho late\n```\n", /line 1: exit code 1/],
  ["output of nothing", "```console\none\n```\n", /output before any command/],
  ["a hidden command that fails", "<!-- before: false -->\n\n```console\n$ echo 1\n1\n```\n", /exit code 1/],
  [
    "what goes on and never comes",
    "```console\n$ true\n```\n\n<!-- goes on -->\n\n```console\nx\n```\n",
    /nothing is running/,
  ],
])("a page with %s fails", async (_name, text, error) => {
  await expect(runPage(parseMarkdown(text))).rejects.toThrow(error);
});

test.each([
  ["an unclosed block", "```sh\n", /never closed/],
  ["a directive that is misspelt", "<!-- notrun: because -->\n", /no directive that is known/],
  ["a directive before no block", "<!-- not run: because -->\n\nText.\n", /stands before no block/],
])("a page with %s is not read", (_name, text, error) => {
  expect(() => parseMarkdown(text)).toThrow(error);
});

test("what runs on, what is typed, files and values go together on one page", async () => {
  const page = [
    "<!-- file: ~/notes.txt -->\n\n```text\nsome notes\n```",
    "<!-- before: NAME=World -->\n\n```console\n$ cat ~/notes.txt\nsome notes\n$ echo Hello $NAME\nHello World\n```",
    `\`\`\`console\n$ echo ${id.replace(/.$/, "3")} | sed s/3$/9/ | tee /tmp/id\n${id}\n$ cat /tmp/id\n${id}\n\`\`\``,
    "<!-- stays running -->\n\n```console\n$ echo begun; until [ -e ~/go ]; do sleep 0.05; done; echo gone; sleep 100\nbegun\n```",
    "```sh\ntouch ~/go\n```",
    "<!-- goes on -->\n\n```console\ngone\n```",
    "<!-- typed: blue -->\n\n```console\n$ read -rp 'Colour? ' it && echo It is $it\nColour? blue\nIt is blue\n```",
  ].join("\n\n");
  await runPage(parseMarkdown(`${page}\n`));
});
