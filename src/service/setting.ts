import { Type } from "@sinclair/typebox";

/** One entry of docs/reference/settings.md, which is generated. `x-default` is what an absent value means. */
export const setting = (options: {
  pattern: string;
  description: string;
  default: string;
  expects: string;
}) =>
  Type.Optional(
    Type.String({
      pattern: options.pattern,
      description: options.description,
      "x-default": options.default,
      "x-expects": options.expects,
    }),
  );
