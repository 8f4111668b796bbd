import type { ReplDriver } from "../../browser/page/repl-driver.ts";

/** Resolves when the REPL shows the text, wherever: in a row, a panel or a banner. */
export async function shows({ root }: ReplDriver, text: string | RegExp): Promise<void> {
  await root.getByText(text).first().waitFor();
}

/** Resolves when as many rows of the conversation hold the text. */
export async function countsRows({ rows }: ReplDriver, text: string, wanted: number): Promise<void> {
  const found = rows.filter({ hasText: text });
  await found.nth(wanted - 1).waitFor();
  const count = await found.count();
  if (count !== wanted) throw new Error(`${count} rows hold "${text}", not ${wanted}.`);
}
