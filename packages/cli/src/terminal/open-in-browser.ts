import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ensurePrivateDirectory } from "@gennai/machine/private-file";
import { startProcess } from "@gennai/machine/process/start-process";
import { replaceFile } from "@gennai/machine/replace-file";
import type { Console } from "./console.ts";

/**
 * Opens a link in the user's browser. Every user of the machine can read a program's arguments, so the browser gets a file that
 * only this user can read, which leads on to the link. Disposing removes the file. Failures are only reported, because the link
 * was printed.
 */
export async function openInBrowser(
  link: string,
  options: { readonly stateDir: string; readonly console: Console },
): Promise<AsyncDisposable> {
  const { stateDir, console } = options;
  const file = join(stateDir, "servers", `open-${randomUUID()}.html`);
  await ensurePrivateDirectory(join(stateDir, "servers"));
  await replaceFile(
    file,
    `<!doctype html><meta charset="utf-8"><title>Gennai</title><meta http-equiv="refresh" content="0; url=${link}">\n`,
  );
  const [program, args] = opener(pathToFileURL(file).href);
  const child = startProcess(program, args, { stdio: "ignore", detached: true });
  child.once("error", () => void console.errors.write(`No browser could be started (${program}); use the link.\n`));
  child.unref();
  return { [Symbol.asyncDispose]: () => rm(file, { force: true }) };
}

function opener(url: string): readonly [program: string, args: readonly string[]] {
  if (process.platform === "darwin") return ["open", [url]];
  if (process.platform === "win32") return ["rundll32", ["url.dll,FileProtocolHandler", url]];
  return ["xdg-open", [url]];
}
