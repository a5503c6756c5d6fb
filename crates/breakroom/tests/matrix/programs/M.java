// Adds four times and prints each sum. One word says what else it does: see the other programs of this folder.
import java.io.FileOutputStream;
import java.io.IOException;
import java.util.Scanner;

public class M {
    static int add(int a, int b) {
        int total = a + b;
        return total; // mark: add
    }

    static void spin() {
        int count = 0;
        while (true) {
            count = (count + 1) % 1000000; // mark: spin
        }
    }

    static void work() {
        System.out.println("working"); // mark: work
    }

    static void talk() {
        for (int i = 0; i < 500; i++) {
            System.out.println("line " + i);
        }
        System.err.println("to stderr");
    }

    public static void main(String[] args) throws InterruptedException, IOException {
        String word = args.length > 0 ? args[0] : "";
        int[] numbers = new int[120];
        for (int i = 0; i < 120; i++) {
            numbers[i] = i * 10;
        }
        if (word.equals("spin")) {
            System.out.println("spinning");
            spin();
        }
        if (word.equals("threads")) {
            Thread worker = new Thread(M::work, "worker");
            worker.start();
            worker.join();
        }
        if (word.equals("throw")) {
            throw new IllegalStateException("thrown"); // mark: throw
        }
        if (word.equals("ask")) {
            System.out.println("hello " + new Scanner(System.in).nextLine());
        }
        if (word.equals("talk")) {
            talk();
        }
        for (int i = 0; i < 4; i++) {
            int total = add(i, 10); // mark: call
            if (word.startsWith("/")) {
                new FileOutputStream(word).close();
            }
            System.out.println("sum " + total);
        }
        if (word.equals("seven")) {
            System.exit(7);
        }
        System.out.println("done " + numbers[119]); // mark: end
    }
}
