import { cp, mkdir } from "node:fs/promises";
import { join } from "node:path";

/** Replicas of one log sign with one key: what a person does before the first start of another replica. */
export async function copyLedgerKey(fromStateDir: string, toStateDir: string): Promise<void> {
  await mkdir(toStateDir, { recursive: true, mode: 0o700 });
  await cp(join(fromStateDir, "keys"), join(toStateDir, "keys"), { recursive: true });
}
