import type { ReplDriver } from "../browser/repl-driver.ts";

/** Milliseconds for what takes a window, an extension host and a server. */
export const patience = 30_000;

/** Resolves when the REPL shows the text, wherever: in a row, a panel or a banner. */
export async function shows({ root }: ReplDriver, text: string | RegExp): Promise<void> {
  await root.getByText(text).first().waitFor({ timeout: patience });
}

/** Resolves when as many rows of the conversation hold the text. */
export async function countsRows({ rows }: ReplDriver, text: string, wanted: number): Promise<void> {
  const found = rows.filter({ hasText: text });
  await found.nth(wanted - 1).waitFor({ timeout: patience });
  const count = await found.count();
  if (count !== wanted) throw new Error(`${count} rows hold "${text}", not ${wanted}.`);
}
