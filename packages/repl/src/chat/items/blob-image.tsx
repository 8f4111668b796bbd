import type { BlobRef } from "@gennai/protocol/model/session/proposal";
import { useEffect, useState } from "preact/hooks";
import { useChat } from "../chat-context.ts";

const shownTypes: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

/** A picture that the log refers to. */
export function BlobImage({ blob, label }: { readonly blob: BlobRef; readonly label: string }) {
  const { control } = useChat();
  const [url, setUrl] = useState<string>();
  const session = control.followed.value?.session;
  useEffect(() => {
    if (session === undefined || !shownTypes.has(blob.mediaType)) return undefined;
    const leaving = new AbortController();
    let made: string | undefined;
    session.blob(blob.sha256, { signal: leaving.signal }).then(
      (bytes) => {
        if (leaving.signal.aborted) return;
        made = URL.createObjectURL(new Blob([new Uint8Array(bytes)], { type: blob.mediaType }));
        setUrl(made);
      },
      // The place stays empty; its label says what the picture would be.
      () => undefined,
    );
    return () => {
      leaving.abort();
      if (made !== undefined) URL.revokeObjectURL(made);
    };
  }, [session, blob.sha256, blob.mediaType]);
  return url === undefined ? (
    <span class="picture picture-empty">{label}</span>
  ) : (
    <img class="picture" src={url} alt={label} />
  );
}
