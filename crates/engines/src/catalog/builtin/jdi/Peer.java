// Connections of this machine, and who is at the other end of them: nobody but the user that this process runs as is let in.
//
// The program's machine calls here, and is not called: it never listens, so there is no port that others could find.

import com.sun.jdi.connect.spi.Connection;

import java.io.DataInputStream;
import java.io.EOFException;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.Arrays;

final class Peer {
    private static final String[] TABLES = {"/proc/net/tcp", "/proc/net/tcp6"};

    private Peer() {}

    /** The next one of the same user; everybody else is turned away without a word. */
    static Socket accept(ServerSocket door) throws IOException {
        while (true) {
            Socket peer = acceptOne(door);
            if (peer != null) return peer;
        }
    }

    /** The next one if it is of the same user; null is somebody else, who was turned away. */
    static Socket acceptOne(ServerSocket door) throws IOException {
        Socket peer = door.accept();
        if (isOurs(peer)) {
            peer.setTcpNoDelay(true);
            return peer;
        }
        peer.close();
        return null;
    }

    /** The kernel's table has the user of the far end. A row may be missed while the table changes, so it is read again. */
    private static boolean isOurs(Socket peer) throws IOException {
        String user = String.valueOf(Files.getAttribute(Paths.get("/proc/self"), "unix:uid"));
        String far = String.format(":%04X", peer.getPort());
        String near = String.format(":%04X", peer.getLocalPort());
        for (int look = 0; look < 3; look++) {
            boolean found = false;
            boolean ours = true;
            for (String table : TABLES) {
                if (!new File(table).exists()) continue;
                for (String row : Files.readAllLines(Paths.get(table))) {
                    String[] column = row.trim().split("\\s+");
                    // One that is closed belongs to nobody any more.
                    if (column.length <= 9 || column[9].equals("0")) continue;
                    if (column[1].endsWith(far) && column[2].endsWith(near)) {
                        found = true;
                        ours &= column[7].equals(user);
                    }
                }
            }
            if (found) return ours;
        }
        return false;
    }

    /** The debugger's end of the line to a machine that called. */
    static final class Line extends Connection {
        private static final byte[] HELLO = "JDWP-Handshake".getBytes(StandardCharsets.US_ASCII);
        /** Length, number, flags and two bytes that say what it is. */
        private static final int HEADER = 11;

        private final Socket socket;
        private final DataInputStream in;
        private final OutputStream out;

        Line(Socket socket) throws IOException {
            this.socket = socket;
            this.in = new DataInputStream(new java.io.BufferedInputStream(socket.getInputStream()));
            this.out = socket.getOutputStream();
            out.write(HELLO);
            byte[] answer = new byte[HELLO.length];
            in.readFully(answer);
            if (!Arrays.equals(answer, HELLO)) throw new IOException("what called is no Java machine to be debugged");
        }

        @Override
        public byte[] readPacket() throws IOException {
            try {
                int length = in.readInt();
                if (length < HEADER) throw new IOException("a packet of " + length + " bytes");
                byte[] packet = new byte[length];
                for (int at = 0; at < 4; at++) packet[at] = (byte) (length >>> (24 - 8 * at));
                in.readFully(packet, 4, length - 4);
                return packet;
            } catch (EOFException end) {
                return new byte[0];
            } catch (IOException broken) {
                if (!isOpen()) return new byte[0];
                throw broken;
            }
        }

        @Override
        public synchronized void writePacket(byte[] packet) throws IOException {
            out.write(packet);
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }

        @Override
        public boolean isOpen() {
            return !socket.isClosed();
        }
    }
}
