import { type Browser, chromium } from "playwright-core";
import { chromiumProgram } from "./chromium-program.ts";

const args = [
  ...["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"],
  ...["--disable-component-update", "--disable-sync"],
];

let running: Promise<Browser> | undefined;

/**
 * The browser of this test file, started when it is first needed, and again if it did not start or has crashed: a second try of a
 * test must not fail for that. It ends with the pipe to this process, however that ends.
 */
export function chromiumOfFile(): Promise<Browser> {
  running ??= launch().catch((error: unknown) => {
    running = undefined;
    throw error;
  });
  return running;
}

async function launch(): Promise<Browser> {
  const browser = await chromium.launch({ executablePath: chromiumProgram(), args });
  browser.once("disconnected", () => {
    running = undefined;
  });
  return browser;
}

export async function closeChromium(): Promise<void> {
  await (await running)?.close();
}
