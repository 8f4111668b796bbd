import { testPages } from "./page-tests.ts";

testPages(Number.POSITIVE_INFINITY);
