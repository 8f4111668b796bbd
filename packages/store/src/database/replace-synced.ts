import { randomBytes } from "node:crypto";
import { open, rename, rm } from "node:fs/promises";

/** Replaces a file (0600) atomically: a reader sees the old text or the new one, also after a power cut. */
export async function replaceSynced(file: string, text: string): Promise<void> {
  const temporary = `${file}.${process.pid}.${randomBytes(6).toString("hex")}`;
  try {
    {
      await using handle = await open(temporary, "wx", 0o600);
      await handle.writeFile(text);
      // Without it, a power cut could leave an empty file under the final name.
      await handle.sync();
    }
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
