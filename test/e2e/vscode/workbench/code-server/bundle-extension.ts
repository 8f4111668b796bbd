import { fileURLToPath } from "node:url";
import type { TemporaryDirectory } from "@gennai/testkit/temporary-repository";
import { build } from "esbuild";

/**
 * Makes an extension of one file, as VS Code finds it in its extensions directory.
 * @param main e.g. `new URL("../../host/model-extension.ts", import.meta.url)`
 * @param contributes as in a manifest
 */
export async function bundleExtension(
  directory: TemporaryDirectory,
  main: URL,
  contributes: Readonly<Record<string, unknown>>,
): Promise<void> {
  const manifest = {
    name: "test-extension",
    publisher: "test",
    version: "1.0.0",
    engines: { vscode: "^1.138.0" },
    main: "./extension.cjs",
    activationEvents: [],
    contributes,
  };
  await directory.write("package.json", JSON.stringify(manifest));
  await build({
    entryPoints: [fileURLToPath(main)],
    outfile: directory.path("extension.cjs"),
    bundle: true,
    platform: "node",
    format: "cjs",
    target: "node24",
    external: ["vscode"],
    logLevel: "silent",
  });
}
