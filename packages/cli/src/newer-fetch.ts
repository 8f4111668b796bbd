// Node's own `fetch` and its kin, as newer versions of Node have them, in place of those of this one.
import { install } from "undici";

install();
