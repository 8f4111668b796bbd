import { useState } from "preact/hooks";
import { CopyButton } from "../look/copy-button.tsx";

/** A SHA-256, shortened, and in full on demand. */
export function Digest({ digest, of }: { readonly digest: string; readonly of: string }) {
  const [whole, setWhole] = useState(false);
  return (
    <span class="digest">
      <button
        type="button"
        class="digest-text"
        aria-expanded={whole}
        aria-label={`Digest of ${of}: ${whole ? digest : `${digest.slice(0, 12)}, shortened`}`}
        title={whole ? undefined : digest}
        onClick={() => setWhole(!whole)}
      >
        <code>{whole ? digest : `${digest.slice(0, 12)}…`}</code>
      </button>
      {whole && <CopyButton text={digest} label="Copy" />}
    </span>
  );
}
