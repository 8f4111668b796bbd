import { readFileSync } from "node:fs";
import { backends } from "../../../packages/protocol/src/model/session/backend.ts";
import { inRepository } from "../repository.mjs";

const file = "packages/vscode/package.json";

/** The extension's manifest, with the values of its settings that the code lists. */
export function extensionManifest() {
  const manifest = JSON.parse(readFileSync(inRepository(file), "utf8"));
  manifest.contributes.configuration.properties["gennai.defaultBackend"].enum = ["", ...backends];
  return { file, text: `${JSON.stringify(manifest, undefined, 2)}\n` };
}
