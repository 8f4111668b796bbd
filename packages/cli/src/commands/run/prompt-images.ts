import { readFile, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { judgeImage } from "@gennai/machine/formats/fit-image";
import { errorMessage } from "@gennai/protocol/error-message";
import { type CliError, usageError } from "../../terminal/cli-error.ts";
import type { Console } from "../../terminal/console.ts";

/** Limits for all images of one request, which may have 16 MiB. */
const most = { count: 20, bytes: 12_000_000, fileBytes: 64_000_000 } as const;

/** Reads the files of `--image`, before anything starts. Throws `CliError` for what models do not take. */
export async function promptImages(files: readonly string[], console: Console): Promise<readonly Uint8Array[]> {
  if (files.length > most.count) throw usageError(`At most ${most.count} images can be sent.`, "Leave some out.");
  const images: Uint8Array[] = [];
  for (const file of files) images.push(await readImage(resolve(console.directory, file)));
  if (images.reduce((sum, { length }) => sum + length, 0) > most.bytes)
    throw usageError(`All images together may have ${most.bytes} bytes.`, "Leave some out, or make them smaller.");
  return images;
}

async function readImage(path: string): Promise<Uint8Array> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isFile() !== true) throw unusable(path, found === undefined ? "It is not there." : "It is not a file.");
  if (found.size > most.fileBytes) throw unusable(path, `It has ${found.size} bytes.`);
  const bytes = await readFile(path).catch((error: unknown) => {
    throw unusable(path, errorMessage(error));
  });
  const verdict = judgeImage(bytes);
  if (verdict.type === "image") return bytes;
  throw unusable(path, verdict.type === "unfit" ? verdict.problem : "It must be PNG, JPEG, GIF or WebP.");
}

function unusable(path: string, why: string): CliError {
  return usageError(`${path} cannot be sent. ${why}`, "Name another image with --image.");
}
