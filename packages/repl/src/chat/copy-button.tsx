import { useState } from "preact/hooks";
import { copyText } from "./copy-text.ts";

export function CopyButton({ text, label }: { readonly text: string; readonly label: string }) {
  const [words, setWords] = useState(label);
  const copy = async () => {
    setWords((await copyText(text)) ? "Copied" : "Not copied");
    setTimeout(() => setWords(label), 1500);
  };
  return (
    <button type="button" class="link" onClick={() => void copy()}>
      {words}
    </button>
  );
}
