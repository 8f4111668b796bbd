import { type CommandResult, type CorpusCommand, runCommands } from "./runs/run-commands.ts";

/** Per cent of the everyday commands that 0.1 asked about or refused: by its own analysis, at commit 08088cb. */
export const askedIn01 = { sandbox: 50.9, plain: 63.9 } as const;

const files = {
  "src/a.ts": "export const a = 1;\n",
  "src/b.ts": "export const b = 1;\n",
  "docs/notes.md": "# Notes\n",
  "README.md": "# Read me\n",
  "package.json": '{ "name": "app", "version": "1.0.0", "scripts": { "test": "true", "build": "true" } }\n',
  ".gitignore": "node_modules\ndist\n.env\n",
  Makefile: "all:\n\techo hi\n",
};

/** Which commands ask, with nobody to ask, or are refused. In a sandbox, those that build and test really run. */
export async function loudIn(
  place: keyof typeof askedIn01,
  commands: readonly CorpusCommand[],
): Promise<{ readonly asked: number; readonly loud: readonly CommandResult[] }> {
  const loud: CommandResult[] = [];
  await runCommands(commands, {
    files,
    timeoutMs: 8_000,
    place,
    onResult: (result) => void (result.outcome === "ran" || loud.push(result)),
  });
  return { asked: loud.length, loud };
}
