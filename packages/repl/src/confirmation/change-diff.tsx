import { VisibleText } from "../look/visible-text.tsx";

/** What would be kept, line by line; hidden characters are named. @param diff unified */
export function ChangeDiff({ diff }: { readonly diff: string }) {
  const lines = diff.replace(/\n$/, "").split("\n");
  return (
    <pre class="g-code confirmation-diff" aria-label="What would be kept" tabIndex={0}>
      {lines.map((line, index) => (
        <span key={`${index}`} class={lineClass(line)}>
          <VisibleText text={`${line}\n`} />
        </span>
      ))}
    </pre>
  );
}

function lineClass(line: string): string {
  if (/^(?:\+\+\+|---) /.test(line)) return "confirmation-diff-file";
  if (line.startsWith("+")) return "confirmation-diff-added";
  return line.startsWith("-") ? "confirmation-diff-removed" : "";
}
