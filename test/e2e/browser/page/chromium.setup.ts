import { chromium } from "playwright-core";
import type { TestProject } from "vitest/node";
import { chromiumProgram } from "./chromium-program.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Where playwright reaches the browser of this run. */
    readonly chromium: string;
  }
}

/**
 * One browser for all files of a project. It ends with the pipe to this process, however that ends.
 * @public vitest calls it
 */
export default async function startChromium(project: TestProject): Promise<() => Promise<void>> {
  const server = await chromium.launchServer({
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
  project.provide("chromium", server.wsEndpoint());
  return () => server.close();
}
