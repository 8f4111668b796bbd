import { type CommandResult, type CorpusCommand, runCommands } from "./runs/run-commands.ts";

/** Per cent of the everyday commands that 0.1 asked about or refused: by its own analysis, at commit 08088cb. */
export const askedIn01 = 63.9;

const files = {
  "src/a.ts": "export const a = 1;\n",
  "src/b.ts": "export const b = 1;\n",
  "docs/notes.md": "# Notes\n",
  "README.md": "# Read me\n",
  "package.json": '{ "name": "app", "version": "1.0.0", "scripts": { "test": "true", "build": "true" } }\n',
  ".gitignore": "node_modules\ndist\n.env\n",
  Makefile: "all:\n\techo hi\n",
};

/** Which commands ask, with nobody to ask, or are refused where nothing is staged. */
export async function loudUnstaged(
  commands: readonly CorpusCommand[],
): Promise<{ readonly asked: number; readonly loud: readonly CommandResult[] }> {
  const loud: CommandResult[] = [];
  await runCommands(commands, {
    files,
    timeoutMs: 8_000,
    place: "plain",
    onResult: (result) => void (result.outcome === "ran" || loud.push(result)),
  });
  return { asked: loud.length, loud };
}
