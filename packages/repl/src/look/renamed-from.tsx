import { VisibleText } from "./visible-text.tsx";

/** Beside a file's path, the one it had before. */
export function RenamedFrom({ path }: { readonly path: string }) {
  return (
    <span class="badge">
      renamed from <VisibleText text={path} />
    </span>
  );
}
