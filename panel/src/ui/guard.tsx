// A page that fails must not take the others with it.

import { Component, type ComponentChildren } from "preact";

import { Notice } from "./basics";

export class Guard extends Component<{ children: ComponentChildren }, { failed: string | null }> {
  override state: { failed: string | null } = { failed: null };

  override componentDidCatch(error: unknown): void {
    this.setState({ failed: error instanceof Error ? error.message : String(error) });
  }

  override render(): ComponentChildren {
    if (this.state.failed === null) return this.props.children;
    return (
      <Notice tone="bad" role="alert">
        <strong>This page cannot be shown.</strong>
        <div>{this.state.failed}</div>
      </Notice>
    );
  }
}
