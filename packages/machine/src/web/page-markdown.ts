import { Worker } from "node:worker_threads";
import { ToolFailure } from "@gennai/governance/tool-error";
import type { FetchedPage } from "./fetch-page.ts";
import { visibleText } from "./visible-text.ts";

/** Most characters of a page that a model gets at once. */
export const maxPageCharacters = 100_000;

/** Milliseconds that the conversion of a page may take, and megabytes of memory. */
const usualTimeoutMs = 10_000;
const maxMemoryMb = 512;

/** The program of the worker, as text so that a bundle needs no file of its own for it. */
const program = `
const { parentPort, workerData } = require("node:worker_threads");
import(workerData.module)
  .then(({ htmlMarkdown }) => htmlMarkdown(workerData.html))
  .then((markdown) => parentPort.postMessage(markdown));
`;

/**
 * A page as markdown. Other text than HTML stays as it is, without hidden characters. A page can be made so that this takes
 * hours, so it is done in a thread that is ended at a deadline. Rejects with `ToolFailure`.
 */
export async function pageMarkdown(
  { mediaType, text }: Pick<FetchedPage, "mediaType" | "text">,
  options: { readonly signal: AbortSignal; readonly timeoutMs?: number },
): Promise<string> {
  if (mediaType !== "text/html" && mediaType !== "application/xhtml+xml") return visibleText(text);
  const { signal, timeoutMs = usualTimeoutMs } = options;
  signal.throwIfAborted();
  // Loaded only when a page is fetched.
  const { htmlMarkdownModule } = await import("./html-markdown.ts");
  const worker = new Worker(program, {
    eval: true,
    env: {},
    execArgv: [],
    workerData: { module: htmlMarkdownModule, html: text },
    resourceLimits: { maxOldGenerationSizeMb: maxMemoryMb },
  });
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  const give = (): void => reject(deadline.reason);
  deadline.addEventListener("abort", give, { once: true });
  worker.once("message", (markdown: unknown) => resolve(String(markdown)));
  worker.once("error", reject);
  worker.once("exit", () => reject(new Error("it ended early")));
  try {
    return visibleText(await promise);
  } catch (cause) {
    signal.throwIfAborted();
    throw new ToolFailure("unreadable_page", "The page cannot be made into text: it is too large or too deep.", {
      hint: "Fetch another page that says the same.",
      cause,
    });
  } finally {
    deadline.removeEventListener("abort", give);
    await worker.terminate();
  }
}
