import { VisibleText } from "../../look/visible-text.tsx";

/** The commands that changed a part of a proposal; nothing if only file tools changed it. */
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
