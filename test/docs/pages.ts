import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { errorMessage } from "@gennai/protocol/error-message";
import { type MarkdownPage, parseMarkdown } from "./markdown-page.ts";
import { repository } from "./run/page-home.ts";

/** The documentation: every page for people, by its path in the repository. */
export const pages: ReadonlyMap<string, MarkdownPage> = new Map(
  globSync(["*.md", "docs/**/*.md", "examples/**/*.md"], { cwd: repository })
    .filter((path) => !path.startsWith("examples/sample-workspace/"))
    .sort()
    .map((path) => [path, read(path)]),
);

function read(path: string): MarkdownPage {
  try {
    return parseMarkdown(readFileSync(join(repository, path), "utf8"));
  } catch (error) {
    throw new Error(`${path}: ${errorMessage(error)}`, { cause: error });
  }
}
