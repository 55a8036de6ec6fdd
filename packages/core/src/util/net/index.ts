// What packages use of util/net.
export { embeddedIpv4 } from './embedded-ipv4.ts'
export { isLoopback, isLoopbackUrl, reachesThisMachine } from './loopback.ts'
export { fitsSocketAddress, listenForAnyUser, shortFolder } from './unix-socket.ts'
