import { useState } from "preact/hooks";
import { copyText } from "./copy-text.ts";

export interface CopyButtonProps {
  readonly text: string;
  readonly label: string;
  /** A link shows the result in its own place, a button next to itself. */
  readonly look?: "button" | "link";
}

/** Milliseconds for which the result is shown. */
const saidFor = 1500;

/** Copies a text to the clipboard and shows the result. */
export function CopyButton({ text, label, look = "button" }: CopyButtonProps) {
  const [said, setSaid] = useState("");
  const copy = async () => {
    setSaid((await copyText(text)) ? "Copied" : "Not copied");
    setTimeout(() => setSaid(""), saidFor);
  };
  if (look === "link") {
    return (
      <button type="button" class="link" onClick={() => void copy()}>
        {said || label}
      </button>
    );
  }
  return (
    <span class="copy">
      <button type="button" class="button button-quiet" onClick={() => void copy()}>
        {label}
      </button>
      <span class="g-quiet" role="status">
        {said}
      </span>
    </span>
  );
}
