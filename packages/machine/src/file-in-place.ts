import { closeSync, constants, fstatSync, openSync, writeSync } from "node:fs";

// A small file that is written again and again in its place: to make and remove a file takes far longer than to write it, most of all on
// ext4 where many files were removed a moment ago. Its one page is written at once, which a kill cannot divide.

/** Size of a page and of a disk's block. */
const blockBytes = 4096;

export function fitsBlock(text: string): boolean {
  return Buffer.byteLength(text) <= blockBytes;
}

/** The text with blanks behind it, so that the file keeps its size. JSON may end in blanks. @param text `fitsBlock` */
export function inBlock(text: string): string {
  return text + " ".repeat(blockBytes - Buffer.byteLength(text));
}

/** Writes over a file that holds a block. False if that failed, as where there is none. @param text `fitsBlock`; empty: nothing */
export function overwriteBlock(path: string, text: string): boolean {
  return overwrite(path, inBlock(text));
}

/** Writes over a file of the same size. False if that failed, as where it has another size. @param text `fitsBlock` */
export function overwrite(path: string, text: string): boolean {
  const bytes = Buffer.from(text);
  try {
    const descriptor = openSync(path, constants.O_WRONLY | (constants.O_NOFOLLOW ?? 0));
    try {
      return (
        fstatSync(descriptor).size === bytes.length && writeSync(descriptor, bytes, 0, bytes.length, 0) === bytes.length
      );
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return false;
  }
}
