import { testPages } from "./page-tests.ts";

testPages(1);
