import { VisibleText } from "../diff/visible-text.tsx";

/** Which commands changed something in a part of a proposal; nothing for what only file tools did. */
export function ChangedBy({ commands }: { readonly commands: readonly string[] | undefined }) {
  if (commands === undefined) return null;
  return (
    <span class="changed-by" title={commands.join("\n")}>
      changed by{" "}
      {commands.map((command) => (
        <code key={command}>
          <VisibleText text={command} />
        </code>
      ))}
    </span>
  );
}
