import { basename, posix } from "node:path";
import { quotedCommand } from "@gennai/governance/command/shell-words";
import { z } from "zod";
import { textInside } from "../play/inside.ts";

/** A small task with tests that decide, laid out as Exercism's tracks lay theirs out. */
export interface Task {
  readonly name: string;
  /** The task's instructions. */
  readonly instructions: string;
  /** What is there at the beginning, by path: the stub and its tests. */
  readonly files: Readonly<Record<string, string>>;
  /** The reference solution, by the path that it belongs to. */
  readonly solution: Readonly<Record<string, string>>;
  readonly tests: readonly string[];
  /** Ends with 0 when the tests pass. */
  readonly command: string;
}

const config = z.object({
  files: z.object({
    solution: z.array(z.string()).min(1),
    test: z.array(z.string()).min(1),
    example: z.array(z.string()).optional(),
    exemplar: z.array(z.string()).optional(),
    editor: z.array(z.string()).optional(),
  }),
});

/**
 * The task in a folder with `.meta/config.json`; undefined for one that has no reference solution, that names files outside of its folder,
 * or whose language has no command here.
 */
export function taskIn(folder: string): Task | undefined {
  const parsed = config.safeParse(JSON.parse(textInside(folder, ".meta/config.json") ?? "null"));
  if (!parsed.success) return undefined;
  const { solution, test, example, exemplar, editor = [] } = parsed.data.files;
  const reference = example ?? exemplar ?? [];
  const command = commandFor(test);
  if (command === undefined || reference.length !== solution.length) return undefined;
  const read = (path: string): string => textInside(folder, path) ?? "";
  if ([...solution, ...test, ...editor, ...reference].some((path) => textInside(folder, path) === undefined))
    return undefined;
  const texts = (paths: readonly string[]) => Object.fromEntries(paths.map((path) => [path, read(path)]));
  const instructions = [".docs/introduction.md", ".docs/instructions.md", ".docs/instructions.append.md"].flatMap(
    (path) => textInside(folder, path) ?? [],
  );
  return {
    name: basename(folder),
    instructions: instructions.join("\n\n"),
    files: texts([...solution, ...test, ...editor]),
    solution: Object.fromEntries(solution.map((path, index) => [path, read(reference[index] ?? "")])),
    tests: test,
    command,
  };
}

/** Only what needs no packages. */
function commandFor(tests: readonly string[]): string | undefined {
  const kinds = new Set(tests.map((path) => posix.extname(path)));
  // A name that begins with a hyphen would be an option.
  if (kinds.size !== 1 || tests.some((path) => path.startsWith("-"))) return undefined;
  if (kinds.has(".py")) return `python3 -m unittest ${quotedCommand(tests)}`;
  if (kinds.has(".mjs")) return `node --test ${quotedCommand(tests)}`;
  return undefined;
}
