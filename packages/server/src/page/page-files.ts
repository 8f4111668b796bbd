import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { extname, join } from "node:path";

/** A file of the built page, ready to be sent. */
export interface PageFile {
  /** Its name below `/assets/`. */
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: Uint8Array;
  /** Changes with every byte of it. */
  readonly tag: string;
}

const mediaTypes: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".ttf": "font/ttf",
  ".woff2": "font/woff2",
};

/** The page's script, its entry. */
export const pageScript = "repl.js";

/** The files in a directory that the page consists of; none when the page is not built. They do not change while we run. */
export async function readPageFiles(directory: string): Promise<readonly PageFile[]> {
  const names = await readdir(directory).catch((): string[] => []);
  if (!names.includes(pageScript)) return [];
  const files = names.flatMap((name) => {
    const mediaType = mediaTypes[extname(name)];
    return mediaType === undefined || !/^[\w.-]+$/.test(name) ? [] : [{ name, mediaType }];
  });
  return Promise.all(
    files.map(async ({ name, mediaType }) => {
      const bytes = await readFile(join(directory, name));
      return { name, mediaType, bytes, tag: createHash("sha256").update(bytes).digest("base64url").slice(0, 22) };
    }),
  );
}
