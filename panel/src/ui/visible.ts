// Every text that is drawn, and what is read aloud in its place, has nothing in it that cannot be
// seen, whichever page draws it. What is sent back to pawl, and links, are as they were.

import { options, type ComponentChildren } from "preact";

import { visible } from "../logic/visible";

const told = ["title", "aria-label", "aria-valuetext"];

function shown(children: ComponentChildren): ComponentChildren {
  if (typeof children === "string") return visible(children);
  return Array.isArray(children) ? children.map(shown) : children;
}

export function drawNothingUnseen(): void {
  const before = options.vnode;
  options.vnode = (vnode) => {
    const props = vnode.props as { [name: string]: unknown; children?: ComponentChildren };
    if (typeof vnode.type === "string") {
      if (props.children !== undefined) props.children = shown(props.children);
      for (const name of told) {
        const text = props[name];
        if (typeof text === "string") props[name] = visible(text);
      }
    }
    before?.(vnode);
  };
}
