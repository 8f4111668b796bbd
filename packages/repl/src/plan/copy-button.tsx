import { useState } from "preact/hooks";

/** Puts a text on the clipboard and says so. */
export function CopyButton({ text, label }: { readonly text: string; readonly label: string }) {
  const [said, setSaid] = useState("");
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setSaid("Copied");
    } catch {
      setSaid("The clipboard refused");
    }
  };
  return (
    <span class="copy">
      <button type="button" class="g-button" onClick={() => void copy()}>
        {label}
      </button>
      <span class="g-quiet" role="status">
        {said}
      </span>
    </span>
  );
}
