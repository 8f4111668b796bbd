import type { ReadonlySignal } from "@preact/signals";
import { createContext } from "preact";
import { useContext } from "preact/hooks";

/**
 * Whether the window around the app is the one that a person works in, as its host says. undefined: the document's own focus tells, as
 * it does on a page. That of a webview comes and goes between parts of one window, which nothing covered meanwhile.
 */
export type WindowFocus = ReadonlySignal<boolean | undefined>;

const context = createContext<WindowFocus | undefined>(undefined);

export const WindowFocusProvider = context.Provider;

export function useWindowFocus(): WindowFocus | undefined {
  return useContext(context);
}
