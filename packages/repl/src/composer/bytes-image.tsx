import { useEffect, useState } from "preact/hooks";

/** A picture that is not stored on the server yet. */
export function BytesImage(props: {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly mediaType: string;
  readonly label: string;
}) {
  const { bytes, mediaType, label } = props;
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    const made = URL.createObjectURL(new Blob([bytes], { type: mediaType }));
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [bytes, mediaType]);
  return url === undefined ? null : <img class="picture" src={url} alt={label} title={label} />;
}
