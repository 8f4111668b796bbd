import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { startProcess } from "@gennai/machine/process/start-process";
import { CliError } from "./cli-error.ts";

/**
 * Lets the user edit a text in `$VISUAL` or `$EDITOR`. undefined: the editor failed. Rejects with `CliError` if neither is set.
 * @param path names the temporary file, so that the editor knows the language
 */
export async function editText(
  text: string,
  path: string,
  environment: NodeJS.ProcessEnv,
): Promise<string | undefined> {
  const editor = environment["VISUAL"] || environment["EDITOR"];
  if (editor === undefined || editor === "") {
    throw new CliError("No editor is known.", { next: ["Set EDITOR, e.g. EDITOR=nano, or answer y or n."] });
  }
  const directory = await mkdtemp(join(tmpdir(), "gennai-edit-"));
  const file = join(directory, basename(path));
  try {
    await writeFile(file, text, { mode: 0o600 });
    const code = await new Promise<number | null>((resolve, reject) => {
      // The user's setting may contain arguments, so a shell runs it, as with git.
      const child = startProcess("/bin/sh", ["-c", `${editor} "$1"`, "editor", file], { stdio: "inherit" });
      child.on("error", reject);
      child.on("close", resolve);
    });
    return code === 0 ? await readFile(file, "utf8") : undefined;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
