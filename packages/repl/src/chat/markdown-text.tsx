import { useRef } from "preact/hooks";
import { copyText } from "../look/copy-text.ts";
import { type MarkdownBlock, markdownBlocks } from "./markdown.ts";

export interface MarkdownTextProps {
  readonly text: string;
  /** Opens a file of the workspace; without it, paths are plain text. */
  readonly onOpenFile?: ((path: string, line?: number) => void) | undefined;
}

/** Untrusted Markdown. A block that did not change keeps its element, and with it the selection. */
export function MarkdownText({ text, onOpenFile }: MarkdownTextProps) {
  const before = useRef<ReadonlyMap<string, MarkdownBlock>>(new Map());
  const blocks = markdownBlocks(text, before.current);
  before.current = blocks;
  const open = (event: Event) => {
    const path =
      event.target instanceof Element ? event.target.closest("a.path")?.getAttribute("data-path") : undefined;
    if (path === null || path === undefined) return;
    event.preventDefault();
    const [, file = path, line] = /^(.*?)(?:(?::|#L)(\d+)(?:[:-].*)?)?$/.exec(path) ?? [];
    onOpenFile?.(file, line === undefined ? undefined : Number(line));
  };
  const click = (event: MouseEvent) => {
    const copy = event.target instanceof Element ? event.target.closest("button[data-copy]") : null;
    if (copy === null) return open(event);
    const code = copy.closest(".code-block")?.querySelector("code")?.textContent ?? "";
    void copyText(code).then((done) => {
      copy.textContent = done ? "Copied" : "Not copied";
      setTimeout(() => {
        copy.textContent = "Copy";
      }, 1500);
    });
  };
  return (
    <div
      class={onOpenFile === undefined ? "markdown markdown-no-files" : "markdown"}
      onClick={click}
      onKeyDown={(event) => {
        if (event.key === "Enter") open(event);
      }}
    >
      {[...blocks.values()].map((html, index) => (
        // biome-ignore lint: the html was cleaned, and blocks only ever grow at the end
        <div key={index} class="markdown-block" dangerouslySetInnerHTML={{ __html: html }} />
      ))}
    </div>
  );
}
