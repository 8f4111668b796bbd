import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import type { TestProject } from "vitest/node";
import * as z from "zod";
import type { CodeServerProgram } from "./code-server.ts";

declare module "vitest" {
  interface ProvidedContext {
    readonly codeServerProgram: CodeServerProgram;
    /** Absolute path of the extension as VS Code unpacks it. */
    readonly extension: string;
    /** Absolute path of the packaged extension. */
    readonly vsix: string;
  }
}

const script = fileURLToPath(new URL("../../../../../scripts/vscode-e2e.mjs", import.meta.url));
const preparedSchema = z.object({
  codeServer: z.object({ node: z.string(), entry: z.string() }),
  extension: z.string(),
  vsix: z.string(),
});

/**
 * Prepares what is missing; the first time that takes minutes.
 * @public vitest calls it
 */
export default async function prepareCodeServer(project: TestProject): Promise<void> {
  const preparing = spawn(process.execPath, [script], { stdio: ["ignore", "pipe", "inherit"] });
  const [printed, [code]] = await Promise.all([text(preparing.stdout), once(preparing, "close")]);
  if (code !== 0) throw new Error("What the tests in VS Code need could not be prepared; see above.");
  const { codeServer, extension, vsix } = preparedSchema.parse(JSON.parse(printed));
  // Extension hosts run in it as well.
  const node = process.env["GENNAI_CODE_SERVER_NODE"] ?? codeServer.node;
  project.provide("codeServerProgram", { ...codeServer, node });
  project.provide("extension", extension);
  project.provide("vsix", vsix);
}
