/** The npm package has no types. */
declare module 'bittorrent-tracker/server' {
  import type { Socket } from 'node:dgram';
  import type { EventEmitter } from 'node:events';
  import type { Server as HttpServer } from 'node:http';

  export default class Server extends EventEmitter {
    constructor(options: { http: boolean; udp: boolean; ws: boolean; stats: boolean });
    readonly http: HttpServer | null;
    readonly udp4: Socket | null;
    listen(port: number, hosts: { http: string; udp: string; udp6: string }): void;
    close(): void;
  }
}
