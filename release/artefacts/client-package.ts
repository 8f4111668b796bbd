import { readFileSync } from "node:fs";
import { join } from "node:path";
import { filesBelow } from "../files-below.ts";
import type { SourceState } from "../source-state.ts";
import type { TarEntry } from "./tarball.ts";

/** What the client for programs holds but for the licences of others, by path in it. @param directory of its modules */
export function clientPackage(root: string, source: SourceState, directory: string): readonly TarEntry[] {
  const guide = readFileSync(join(root, "docs", "guides", "write-a-client.md"), "utf8");
  return [
    ...filesBelow(directory).map((file) => ({ path: file, bytes: readFileSync(join(directory, file)) })),
    { path: "package.json", bytes: Buffer.from(`${JSON.stringify(manifest(source), undefined, 2)}\n`) },
    { path: "README.md", bytes: Buffer.from(withoutPlaces(guide)) },
    { path: "LICENSE", bytes: readFileSync(join(root, "LICENSE")) },
  ];
}

function manifest({ version }: SourceState): object {
  const module = (name: string) => ({ types: `./${name}.d.ts`, default: `./${name}.js` });
  return {
    name: "@gennai/client",
    version,
    description:
      "Have Gennai, the governed coding agent, do something from a program: requests, questions, proposals, events.",
    license: "MIT",
    keywords: ["agent", "governance", "coding agent", "ai", "sdk"],
    type: "module",
    exports: { ".": module("index"), "./node": module("node") },
    sideEffects: false,
    engines: { node: ">=20" },
  };
}

/** Links lead nowhere beside the package, and how a block is tested is of no interest there. */
function withoutPlaces(page: string): string {
  return page.replaceAll(/\[([^\]]+)\]\((?!https?:)[^)]+\)/g, "$1").replaceAll(/<!--[^]*?-->\n\n/g, "");
}
