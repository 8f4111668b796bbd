import { type Browser, chromium } from "playwright-core";
import { chromiumProgram } from "./chromium-program.ts";

let running: Promise<Browser> | undefined;

/** The browser of this test file, started when it is first needed. It ends with the pipe to this process, however that ends. */
export function chromiumOfFile(): Promise<Browser> {
  running ??= chromium.launch({
    executablePath: chromiumProgram(),
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
  return running;
}

export async function closeChromium(): Promise<void> {
  const closing = running;
  running = undefined;
  await (await closing)?.close();
}
