import type { ReadonlySignal } from "@preact/signals";
import { createContext } from "preact";
import { useContext } from "preact/hooks";

/**
 * Whether a person works in the window around the app, as its host reports. undefined: the document's own focus counts, as on a
 * page. The document focus of a webview also changes within one window, although nothing covers the webview.
 */
export type WindowFocus = ReadonlySignal<boolean | undefined>;

const context = createContext<WindowFocus | undefined>(undefined);

export const WindowFocusProvider = context.Provider;

export function useWindowFocus(): WindowFocus | undefined {
  return useContext(context);
}
